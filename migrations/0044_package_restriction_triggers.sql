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
