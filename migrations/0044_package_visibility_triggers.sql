-- Which packages not all who see the owner see, and the revisions of indexes over the others.

CREATE TRIGGER `packages_insert_concealed` AFTER INSERT ON `packages`
WHEN new.`is_restricted` OR new.`repo_id` IS NOT NULL BEGIN
	UPDATE `packages`
	SET `is_concealed` = new.`is_restricted`
		OR coalesce((SELECT `visibility` = 'private' FROM `repositories` WHERE `id` = new.`repo_id`), 0)
	WHERE `id` = new.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `packages_link` AFTER UPDATE OF `repo_id`, `is_restricted` ON `packages` BEGIN
	UPDATE `packages`
	SET `is_concealed` = new.`is_restricted`
		OR coalesce((SELECT `visibility` = 'private' FROM `repositories` WHERE `id` = new.`repo_id`), 0)
	WHERE `id` = new.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `packages_repository_visibility` AFTER UPDATE OF `visibility` ON `repositories`
WHEN (new.`visibility` = 'private') <> (old.`visibility` = 'private') BEGIN
	UPDATE `packages`
	SET `is_concealed` = `is_restricted` OR new.`visibility` = 'private'
	WHERE `repo_id` = new.`id`;
END;
--> statement-breakpoint
DROP TRIGGER `packages_revision`;
--> statement-breakpoint
CREATE TRIGGER `packages_revision`
AFTER UPDATE OF `revision`, `name`, `repo_id`, `is_concealed` ON `packages` BEGIN
	UPDATE `package_registries`
	SET
		`revision` = `revision` + 1,
		`public_revision` = `public_revision` + NOT (old.`is_concealed` AND new.`is_concealed`)
	WHERE `owner_id` = new.`owner_id` AND `type` = new.`type`;
END;
--> statement-breakpoint
DROP TRIGGER `packages_delete`;
--> statement-breakpoint
CREATE TRIGGER `packages_delete` AFTER DELETE ON `packages` BEGIN
	UPDATE `package_registries`
	SET `revision` = `revision` + 1, `public_revision` = `public_revision` + NOT old.`is_concealed`
	WHERE `owner_id` = old.`owner_id` AND `type` = old.`type`;
END;
--> statement-breakpoint
DROP TRIGGER `package_registries_insert`;
--> statement-breakpoint
CREATE TRIGGER `package_registries_insert` AFTER INSERT ON `package_registries` BEGIN
	UPDATE `package_registries`
	SET `changed_at` = unixepoch() * 1000, `public_changed_at` = unixepoch() * 1000
	WHERE `owner_id` = new.`owner_id` AND `type` = new.`type`;
END;
--> statement-breakpoint
DROP TRIGGER `package_registries_revision`;
--> statement-breakpoint
CREATE TRIGGER `package_registries_revision` AFTER UPDATE OF `revision` ON `package_registries` BEGIN
	UPDATE `package_registries`
	SET
		`changed_at` = max(old.`changed_at`, unixepoch() * 1000),
		`public_changed_at` = CASE
			WHEN new.`public_revision` = old.`public_revision` THEN old.`public_changed_at`
			ELSE max(old.`public_changed_at`, unixepoch() * 1000)
		END
	WHERE `owner_id` = new.`owner_id` AND `type` = new.`type`;
END;
--> statement-breakpoint
-- Packages and registries from before.

UPDATE `package_registries` SET `public_revision` = `revision`, `public_changed_at` = `changed_at`;
--> statement-breakpoint
UPDATE `packages`
SET `is_concealed` = 1
WHERE `is_restricted` OR `repo_id` IN (SELECT `id` FROM `repositories` WHERE `visibility` = 'private');
