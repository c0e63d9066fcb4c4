-- Search of all addresses by any part, for administrators: trigrams, so three characters at least.
CREATE VIRTUAL TABLE `email_addresses_search` USING fts5(
	`email`, content = '', contentless_delete = 1, tokenize = 'trigram'
);
--> statement-breakpoint
CREATE TRIGGER `email_addresses_search_insert` AFTER INSERT ON `email_addresses` BEGIN
	INSERT INTO `email_addresses_search` (`rowid`, `email`) VALUES (new.`id`, new.`lower_email`);
END;
--> statement-breakpoint
CREATE TRIGGER `email_addresses_search_update` AFTER UPDATE OF `lower_email` ON `email_addresses`
WHEN new.`lower_email` <> old.`lower_email` BEGIN
	DELETE FROM `email_addresses_search` WHERE `rowid` = old.`id`;
	INSERT INTO `email_addresses_search` (`rowid`, `email`) VALUES (new.`id`, new.`lower_email`);
END;
--> statement-breakpoint
CREATE TRIGGER `email_addresses_search_delete` AFTER DELETE ON `email_addresses` BEGIN
	DELETE FROM `email_addresses_search` WHERE `rowid` = old.`id`;
END;
--> statement-breakpoint
INSERT INTO `email_addresses_search` (`rowid`, `email`) SELECT `id`, `lower_email` FROM `email_addresses`;
