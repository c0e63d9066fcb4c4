-- Whoever deletes a repository, its large files that no other has are noted for removal in the same
-- statement. Before it, since the rows go with the repository.
CREATE TRIGGER `repositories_lfs_discard` BEFORE DELETE ON `repositories` BEGIN
	INSERT OR IGNORE INTO `lfs_loose_files` (`upload_id`, `oid`, `network_name`, `expires_at`)
		SELECT `upload_id`, `oid`, old.`network_name`, 0 FROM `lfs_objects` AS `own`
		WHERE `own`.`repo_id` = old.`id` AND NOT EXISTS (
			SELECT 1 FROM `lfs_objects` AS `other`
			WHERE `other`.`upload_id` = `own`.`upload_id` AND `other`.`repo_id` <> old.`id`
		);
END;
