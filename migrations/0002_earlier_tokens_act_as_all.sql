-- Tokens made before scopes existed could do everything, and their holders count on it.
UPDATE `access_tokens` SET `scopes` = 'all' WHERE `scopes` IS NULL;
