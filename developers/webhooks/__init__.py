"""Webhooks: what happened is told to the apps that asked for it, by the Standard Webhooks scheme.

An event is written in the transaction of its change (`publishing`), fanned out to the endpoints that may hear it and delivered by
the worker (`delivering`), signed (`signing`), to addresses that strangers name and none inside (`marketplace.http.outbound`).
"""
