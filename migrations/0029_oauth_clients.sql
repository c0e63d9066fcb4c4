-- The public clients that tools of the field bring with them, under the ids that they send.
INSERT INTO `oauth_applications` (`owner_id`, `name`, `client_id`, `is_confidential`, `redirect_uris`, `created_at`)
VALUES
	(null, 'git-credential-oauth', 'a4792ccc-144e-407e-86c9-5e7d8d9c3269', false, '["http://127.0.0.1","https://127.0.0.1"]', 0),
	(null, 'Git Credential Manager', 'e90ee53c-94e2-48ac-9358-a874fb9e0662', false, '["http://127.0.0.1","https://127.0.0.1"]', 0),
	(null, 'tea', 'd57cb8c4-630c-4168-8324-ec79935e18d4', false, '["http://127.0.0.1","https://127.0.0.1"]', 0);
