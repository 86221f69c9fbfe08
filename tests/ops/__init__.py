"""Tests of how the service is started and configured."""
