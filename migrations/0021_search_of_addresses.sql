-- Users are also found by their address. A hidden one has a column of its own, which only administrators search.

DROP TRIGGER `users_search_insert`;
--> statement-breakpoint
DROP TRIGGER `users_search_update`;
--> statement-breakpoint
DROP TRIGGER `users_search_delete`;
--> statement-breakpoint
DROP TABLE `users_search`;
--> statement-breakpoint
CREATE VIRTUAL TABLE `users_search` USING fts5(
	`name`, `full_name`, `visibility`, `email`, `hidden_email`,
	content = '', contentless_delete = 1, tokenize = 'trigram'
);
--> statement-breakpoint
INSERT INTO `users_search`
	(`rowid`, `name`, `full_name`, `visibility`, `email`, `hidden_email`)
SELECT `id`, `name`, `full_name`, `visibility`,
	iif(`is_email_hidden`, '', `email`), iif(`is_email_hidden`, `email`, '')
FROM `users`
WHERE `kind` = 'user';
--> statement-breakpoint
CREATE TRIGGER `users_search_insert` AFTER INSERT ON `users` WHEN new.`kind` = 'user' BEGIN
	INSERT INTO `users_search`
		(`rowid`, `name`, `full_name`, `visibility`, `email`, `hidden_email`)
	VALUES (
		new.`id`, new.`name`, new.`full_name`, new.`visibility`,
		iif(new.`is_email_hidden`, '', new.`email`), iif(new.`is_email_hidden`, new.`email`, '')
	);
END;
--> statement-breakpoint
CREATE TRIGGER `users_search_update`
AFTER UPDATE OF `name`, `full_name`, `visibility`, `email`, `is_email_hidden` ON `users`
WHEN new.`kind` = 'user' AND (new.`name` <> old.`name` OR new.`full_name` <> old.`full_name`
	OR new.`visibility` <> old.`visibility` OR new.`email` <> old.`email`
	OR new.`is_email_hidden` <> old.`is_email_hidden`) BEGIN
	DELETE FROM `users_search` WHERE `rowid` = old.`id`;
	INSERT INTO `users_search`
		(`rowid`, `name`, `full_name`, `visibility`, `email`, `hidden_email`)
	VALUES (
		new.`id`, new.`name`, new.`full_name`, new.`visibility`,
		iif(new.`is_email_hidden`, '', new.`email`), iif(new.`is_email_hidden`, new.`email`, '')
	);
END;
--> statement-breakpoint
CREATE TRIGGER `users_search_delete` AFTER DELETE ON `users` WHEN old.`kind` = 'user' BEGIN
	DELETE FROM `users_search` WHERE `rowid` = old.`id`;
END;
