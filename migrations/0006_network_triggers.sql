-- Repositories from before networks had names: their git data is called by their id.
UPDATE `repositories` SET `object_name` = CAST(`id` AS TEXT), `network_name` = CAST(`id` AS TEXT);
--> statement-breakpoint

-- Whoever deletes a repository, its git data is noted for removal in the same statement.
CREATE TRIGGER `repositories_discard` AFTER DELETE ON `repositories` WHEN old.`object_name` <> '' BEGIN
	INSERT INTO `discarded_objects` (`object_name`, `network_name`, `discarded_at`)
		VALUES (old.`object_name`, old.`network_name`, unixepoch() * 1000);
END;
--> statement-breakpoint

-- A fork whose parent is deleted is a fork no longer.
CREATE TRIGGER `repositories_orphan` AFTER UPDATE OF `parent_id` ON `repositories`
WHEN new.`parent_id` IS NULL AND old.`parent_id` IS NOT NULL BEGIN
	UPDATE `repositories` SET `is_fork` = 0 WHERE `id` = new.`id`;
END;
