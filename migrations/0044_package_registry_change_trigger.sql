-- The time of each revision of the indexes of one format of one owner, which signed indexes show as their date.

CREATE TRIGGER `package_registries_insert` AFTER INSERT ON `package_registries` BEGIN
	UPDATE `package_registries` SET `changed_at` = unixepoch() * 1000
		WHERE `owner_id` = new.`owner_id` AND `type` = new.`type`;
END;
--> statement-breakpoint
CREATE TRIGGER `package_registries_revision` AFTER UPDATE OF `revision` ON `package_registries` BEGIN
	UPDATE `package_registries` SET `changed_at` = max(old.`changed_at` + 1000, unixepoch() * 1000)
		WHERE `owner_id` = new.`owner_id` AND `type` = new.`type`;
END;
