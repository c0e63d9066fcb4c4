-- What is left of deleted repositories, and what a foreign key to repositories would refuse.

CREATE TRIGGER `repositories_remains` AFTER DELETE ON `repositories` BEGIN
	INSERT OR IGNORE INTO `repository_remains` (`repo_id`) VALUES (old.`id`);
END;
--> statement-breakpoint
CREATE TRIGGER `issues_repository` BEFORE INSERT ON `issues`
WHEN NOT EXISTS (SELECT 1 FROM `repositories` WHERE `id` = new.`repo_id`) BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `labels_repository` BEFORE INSERT ON `labels`
WHEN new.`repo_id` IS NOT NULL AND NOT EXISTS (SELECT 1 FROM `repositories` WHERE `id` = new.`repo_id`) BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `milestones_repository` BEFORE INSERT ON `milestones`
WHEN NOT EXISTS (SELECT 1 FROM `repositories` WHERE `id` = new.`repo_id`) BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `notifications_repository` BEFORE INSERT ON `notifications`
WHEN NOT EXISTS (SELECT 1 FROM `repositories` WHERE `id` = new.`repo_id`) BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
