-- An image to which nothing refers any more is due for removal, in the statement that removed the last reference.
CREATE TRIGGER `users_avatar_update` AFTER UPDATE OF `avatar_hash` ON `users`
WHEN old.`avatar_hash` <> '' AND new.`avatar_hash` <> old.`avatar_hash` BEGIN
	UPDATE `avatar_images` SET `expires_at` = unixepoch() * 1000
		WHERE `hash` = old.`avatar_hash` AND `expires_at` IS NULL
		AND NOT EXISTS (SELECT 1 FROM `users` WHERE `avatar_hash` = old.`avatar_hash` AND `avatar_hash` <> '')
		AND NOT EXISTS (SELECT 1 FROM `repositories` WHERE `avatar_hash` = old.`avatar_hash` AND `avatar_hash` <> '');
END;
--> statement-breakpoint
CREATE TRIGGER `users_avatar_delete` AFTER DELETE ON `users` WHEN old.`avatar_hash` <> '' BEGIN
	UPDATE `avatar_images` SET `expires_at` = unixepoch() * 1000
		WHERE `hash` = old.`avatar_hash` AND `expires_at` IS NULL
		AND NOT EXISTS (SELECT 1 FROM `users` WHERE `avatar_hash` = old.`avatar_hash` AND `avatar_hash` <> '')
		AND NOT EXISTS (SELECT 1 FROM `repositories` WHERE `avatar_hash` = old.`avatar_hash` AND `avatar_hash` <> '');
END;
--> statement-breakpoint
CREATE TRIGGER `repositories_avatar_update` AFTER UPDATE OF `avatar_hash` ON `repositories`
WHEN old.`avatar_hash` <> '' AND new.`avatar_hash` <> old.`avatar_hash` BEGIN
	UPDATE `avatar_images` SET `expires_at` = unixepoch() * 1000
		WHERE `hash` = old.`avatar_hash` AND `expires_at` IS NULL
		AND NOT EXISTS (SELECT 1 FROM `users` WHERE `avatar_hash` = old.`avatar_hash` AND `avatar_hash` <> '')
		AND NOT EXISTS (SELECT 1 FROM `repositories` WHERE `avatar_hash` = old.`avatar_hash` AND `avatar_hash` <> '');
END;
--> statement-breakpoint
CREATE TRIGGER `repositories_avatar_delete` AFTER DELETE ON `repositories` WHEN old.`avatar_hash` <> '' BEGIN
	UPDATE `avatar_images` SET `expires_at` = unixepoch() * 1000
		WHERE `hash` = old.`avatar_hash` AND `expires_at` IS NULL
		AND NOT EXISTS (SELECT 1 FROM `users` WHERE `avatar_hash` = old.`avatar_hash` AND `avatar_hash` <> '')
		AND NOT EXISTS (SELECT 1 FROM `repositories` WHERE `avatar_hash` = old.`avatar_hash` AND `avatar_hash` <> '');
END;
