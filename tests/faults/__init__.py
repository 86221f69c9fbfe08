"""Tests that a killed server, a cut connection and a full disk leave nothing behind."""
