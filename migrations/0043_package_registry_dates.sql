-- Several revisions come of one publication: a date that grew with each would run ahead of the clock.

DROP TRIGGER `package_registries_revision`;
--> statement-breakpoint
CREATE TRIGGER `package_registries_revision` AFTER UPDATE OF `revision` ON `package_registries` BEGIN
	UPDATE `package_registries` SET `changed_at` = max(old.`changed_at`, unixepoch() * 1000)
		WHERE `owner_id` = new.`owner_id` AND `type` = new.`type`;
END;
