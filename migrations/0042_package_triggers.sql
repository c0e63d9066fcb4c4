-- The revisions of indexes, what an owner's packages take up, and the files of deleted blobs, which a job removes.

CREATE TRIGGER `packages_insert` AFTER INSERT ON `packages` BEGIN
	INSERT OR IGNORE INTO `package_registries` (`owner_id`, `type`) VALUES (new.`owner_id`, new.`type`);
END;
--> statement-breakpoint
CREATE TRIGGER `packages_revision` AFTER UPDATE OF `revision`, `name`, `repo_id` ON `packages` BEGIN
	UPDATE `package_registries` SET `revision` = `revision` + 1
		WHERE `owner_id` = new.`owner_id` AND `type` = new.`type`;
END;
--> statement-breakpoint
CREATE TRIGGER `packages_delete` AFTER DELETE ON `packages` BEGIN
	UPDATE `package_registries` SET `revision` = `revision` + 1
		WHERE `owner_id` = old.`owner_id` AND `type` = old.`type`;
END;
--> statement-breakpoint
CREATE TRIGGER `package_versions_insert` AFTER INSERT ON `package_versions` BEGIN
	UPDATE `packages` SET `revision` = `revision` + 1 WHERE `id` = new.`package_id`;
	INSERT INTO `package_usage` (`owner_id`, `version_count`) VALUES (new.`owner_id`, NOT new.`is_internal`)
		ON CONFLICT (`owner_id`) DO UPDATE SET `version_count` = `version_count` + excluded.`version_count`;
END;
--> statement-breakpoint
CREATE TRIGGER `package_versions_update` AFTER UPDATE OF `version`, `metadata`, `is_yanked` ON `package_versions` BEGIN
	UPDATE `packages` SET `revision` = `revision` + 1 WHERE `id` = new.`package_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `package_versions_delete` AFTER DELETE ON `package_versions` BEGIN
	UPDATE `packages` SET `revision` = `revision` + 1 WHERE `id` = old.`package_id`;
	UPDATE `package_usage` SET `version_count` = `version_count` - (NOT old.`is_internal`)
		WHERE `owner_id` = old.`owner_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `package_files_insert` AFTER INSERT ON `package_files` BEGIN
	UPDATE `packages` SET `revision` = `revision` + 1
		WHERE `id` = (SELECT `package_id` FROM `package_versions` WHERE `id` = new.`version_id`);
END;
--> statement-breakpoint
CREATE TRIGGER `package_files_update` AFTER UPDATE OF `name`, `blob_id`, `metadata` ON `package_files` BEGIN
	UPDATE `packages` SET `revision` = `revision` + 1
		WHERE `id` = (SELECT `package_id` FROM `package_versions` WHERE `id` = new.`version_id`);
END;
--> statement-breakpoint
CREATE TRIGGER `package_files_delete` AFTER DELETE ON `package_files` BEGIN
	UPDATE `packages` SET `revision` = `revision` + 1
		WHERE `id` = (SELECT `package_id` FROM `package_versions` WHERE `id` = old.`version_id`);
	DELETE FROM `package_blobs`
		WHERE `id` = old.`blob_id` AND NOT EXISTS (SELECT 1 FROM `package_files` WHERE `blob_id` = old.`blob_id`);
END;
--> statement-breakpoint
CREATE TRIGGER `package_properties_insert` AFTER INSERT ON `package_properties` BEGIN
	UPDATE `packages` SET `revision` = `revision` + 1 WHERE `id` = new.`package_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `package_properties_update` AFTER UPDATE ON `package_properties` BEGIN
	UPDATE `packages` SET `revision` = `revision` + 1 WHERE `id` = new.`package_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `package_properties_delete` AFTER DELETE ON `package_properties` BEGIN
	UPDATE `packages` SET `revision` = `revision` + 1 WHERE `id` = old.`package_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `package_blobs_insert` AFTER INSERT ON `package_blobs` BEGIN
	INSERT INTO `package_usage` (`owner_id`, `size_bytes`) VALUES (new.`owner_id`, new.`size_bytes`)
		ON CONFLICT (`owner_id`) DO UPDATE SET `size_bytes` = `size_bytes` + excluded.`size_bytes`;
END;
--> statement-breakpoint
CREATE TRIGGER `package_blobs_delete` AFTER DELETE ON `package_blobs` BEGIN
	UPDATE `package_usage` SET `size_bytes` = `size_bytes` - old.`size_bytes` WHERE `owner_id` = old.`owner_id`;
	INSERT OR IGNORE INTO `package_loose_files` (`uuid`, `expires_at`) VALUES (old.`uuid`, unixepoch() * 1000);
END;
--> statement-breakpoint
-- The time of each revision of the indexes of one format of one owner, which signed indexes show as their date.

CREATE TRIGGER `package_registries_insert` AFTER INSERT ON `package_registries` BEGIN
	UPDATE `package_registries` SET `changed_at` = unixepoch() * 1000
		WHERE `owner_id` = new.`owner_id` AND `type` = new.`type`;
END;
--> statement-breakpoint
CREATE TRIGGER `package_registries_revision` AFTER UPDATE OF `revision` ON `package_registries` BEGIN
	UPDATE `package_registries` SET `changed_at` = max(old.`changed_at`, unixepoch() * 1000)
		WHERE `owner_id` = new.`owner_id` AND `type` = new.`type`;
END;
--> statement-breakpoint
-- A package whose private repository is deleted or transferred loses the link, but not its readers' bounds.

CREATE TRIGGER `packages_repository_delete` BEFORE DELETE ON `repositories` WHEN old.`is_private` BEGIN
	UPDATE `packages` SET `is_restricted` = 1 WHERE `repo_id` = old.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `packages_repository_transfer` AFTER UPDATE OF `owner_id` ON `repositories`
WHEN new.`owner_id` <> old.`owner_id` BEGIN
	UPDATE `packages`
	SET `is_restricted` = old.`is_private` OR new.`is_private`, `repo_id` = NULL
	WHERE `repo_id` = new.`id`;
END;
--> statement-breakpoint
-- Rules from before merge queues have none.

UPDATE `branch_protections`
SET `settings` = json_set(
	`settings`,
	'$.isMergeQueueEnabled', json('false'),
	'$.mergeQueueStyle', '',
	'$.mergeQueueBatchSize', 5,
	'$.mergeQueueWaitMinutes', 60
)
WHERE `settings` ->> 'isMergeQueueEnabled' IS NULL;
