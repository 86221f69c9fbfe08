"""The developer console: any operation of the API, tried as one of the user's apps, and the same call as code."""
