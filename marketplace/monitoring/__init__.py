"""Logs, metrics, traces, reports of crashes, and health checks."""
