"""What a killed server, a cut connection and a full disk leave behind: nothing."""
