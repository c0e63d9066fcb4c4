ALTER TABLE `package_registries` ADD `dated_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `package_registries` ADD `public_dated_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `package_registries` ADD `counted_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `packages` ADD `dated_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `packages` ADD `counted_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE `packages` SET `dated_at` = unixepoch() * 1000;
--> statement-breakpoint
UPDATE `package_registries`
SET
	`dated_at` = unixepoch() * 1000,
	`public_dated_at` = unixepoch() * 1000 * EXISTS (
		SELECT 1 FROM `packages`
		WHERE `owner_id` = `package_registries`.`owner_id` AND `type` = `package_registries`.`type`
			AND NOT `is_concealed`
	);
--> statement-breakpoint
DROP TRIGGER `packages_insert`;
--> statement-breakpoint
DROP TRIGGER `packages_revision`;
--> statement-breakpoint
DROP TRIGGER `packages_delete`;
--> statement-breakpoint
-- A package that is published again after its deletion has later dates than before.
CREATE TRIGGER `packages_insert` AFTER INSERT ON `packages` BEGIN
	INSERT OR IGNORE INTO `package_registries` (`owner_id`, `type`) VALUES (new.`owner_id`, new.`type`);
	UPDATE `packages`
	SET (`dated_at`, `counted_at`) = (
		SELECT `dated_at`, `counted_at` FROM `package_registries`
		WHERE `owner_id` = new.`owner_id` AND `type` = new.`type`
	)
	WHERE `id` = new.`id`;
END;
--> statement-breakpoint
-- The date of a change is the second after it: clients may send the time of their own download,
-- which may have come before the change in the same second. The statements of one batch follow one
-- another within a few milliseconds, and are one change; another change has another date.
CREATE TRIGGER `packages_counted` AFTER UPDATE OF `revision` ON `packages` BEGIN
	UPDATE `packages`
	SET
		`dated_at` = max(unixepoch() * 1000 + 1000, old.`dated_at` + 1000 * (CAST(unixepoch('subsec') * 1000 AS INTEGER) - old.`counted_at` NOT BETWEEN 0 AND 4)),
		`counted_at` = CAST(unixepoch('subsec') * 1000 AS INTEGER)
	WHERE `id` = new.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `package_registries_counted` AFTER UPDATE OF `revision` ON `package_registries` BEGIN
	UPDATE `package_registries`
	SET
		`dated_at` = max(unixepoch() * 1000 + 1000, old.`dated_at` + 1000 * (CAST(unixepoch('subsec') * 1000 AS INTEGER) - old.`counted_at` NOT BETWEEN 0 AND 4)),
		`public_dated_at` = CASE
			WHEN new.`public_revision` = old.`public_revision` THEN old.`public_dated_at`
			ELSE max(unixepoch() * 1000 + 1000, old.`public_dated_at` + 1000 * (CAST(unixepoch('subsec') * 1000 AS INTEGER) - old.`counted_at` NOT BETWEEN 0 AND 4))
		END,
		`counted_at` = CAST(unixepoch('subsec') * 1000 AS INTEGER)
	WHERE `owner_id` = new.`owner_id` AND `type` = new.`type`;
END;
--> statement-breakpoint
-- A public index that became empty has no date, as one that has always been empty.
CREATE TRIGGER `packages_revision`
AFTER UPDATE OF `revision`, `name`, `repo_id`, `is_concealed` ON `packages` BEGIN
	UPDATE `package_registries`
	SET
		`revision` = `revision` + 1,
		`public_revision` = `public_revision` + NOT (old.`is_concealed` AND new.`is_concealed`)
	WHERE `owner_id` = new.`owner_id` AND `type` = new.`type`;
	UPDATE `package_registries` SET `public_dated_at` = 0
	WHERE new.`is_concealed` AND NOT old.`is_concealed`
		AND `owner_id` = new.`owner_id` AND `type` = new.`type`
		AND NOT EXISTS (
			SELECT 1 FROM `packages`
			WHERE `owner_id` = new.`owner_id` AND `type` = new.`type` AND NOT `is_concealed`
		);
END;
--> statement-breakpoint
CREATE TRIGGER `packages_delete` AFTER DELETE ON `packages` BEGIN
	UPDATE `package_registries`
	SET `revision` = `revision` + 1, `public_revision` = `public_revision` + NOT old.`is_concealed`
	WHERE `owner_id` = old.`owner_id` AND `type` = old.`type`;
	UPDATE `package_registries` SET `public_dated_at` = 0
	WHERE NOT old.`is_concealed`
		AND `owner_id` = old.`owner_id` AND `type` = old.`type`
		AND NOT EXISTS (
			SELECT 1 FROM `packages`
			WHERE `owner_id` = old.`owner_id` AND `type` = old.`type` AND NOT `is_concealed`
		);
END;
