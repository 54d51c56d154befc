"""What the end to end tests stand on: servers, clients and processes."""
