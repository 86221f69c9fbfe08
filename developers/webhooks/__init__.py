"""Webhooks: events are sent to the apps that subscribe to them, as specified by Standard Webhooks.

An event is written in the caller's transaction (`publishing`), fanned out to the endpoints that may receive it and delivered by
the worker (`delivering`), signed (`signing`), and never sent to an internal address (`marketplace.http.outbound`).
"""
