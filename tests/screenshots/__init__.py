"""Every page of the service, driven through a real browser: pictures, accessibility, weight, requests to other hosts."""
