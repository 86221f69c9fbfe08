"""The developer console: any operation of the API, tried as one of one's own apps, and the same call as code."""
