-- Counters and repeated columns move with their cause, in the same statement, whoever writes it:
-- a star is counted once however often it is sent, and a cascade counts as well as a delete.

CREATE TRIGGER `stars_insert` AFTER INSERT ON `stars` BEGIN
	UPDATE `repositories` SET `star_count` = `star_count` + 1 WHERE `id` = new.`repo_id`;
	UPDATE `users` SET `star_count` = `star_count` + 1 WHERE `id` = new.`user_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `stars_delete` AFTER DELETE ON `stars` BEGIN
	UPDATE `repositories` SET `star_count` = `star_count` - 1 WHERE `id` = old.`repo_id`;
	UPDATE `users` SET `star_count` = `star_count` - 1 WHERE `id` = old.`user_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `watches_insert` AFTER INSERT ON `watches` BEGIN
	UPDATE `repositories` SET `watcher_count` = `watcher_count` + 1 WHERE `id` = new.`repo_id`;
	UPDATE `users` SET `watch_count` = `watch_count` + 1 WHERE `id` = new.`user_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `watches_delete` AFTER DELETE ON `watches` BEGIN
	UPDATE `repositories` SET `watcher_count` = `watcher_count` - 1 WHERE `id` = old.`repo_id`;
	UPDATE `users` SET `watch_count` = `watch_count` - 1 WHERE `id` = old.`user_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `follows_insert` AFTER INSERT ON `follows` BEGIN
	UPDATE `users` SET `following_count` = `following_count` + 1 WHERE `id` = new.`follower_id`;
	UPDATE `users` SET `follower_count` = `follower_count` + 1 WHERE `id` = new.`followed_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `follows_delete` AFTER DELETE ON `follows` BEGIN
	UPDATE `users` SET `following_count` = `following_count` - 1 WHERE `id` = old.`follower_id`;
	UPDATE `users` SET `follower_count` = `follower_count` - 1 WHERE `id` = old.`followed_id`;
END;
--> statement-breakpoint
INSERT INTO `repository_totals` (`visibility`, `count`) VALUES ('public', 0), ('limited', 0), ('private', 0);
--> statement-breakpoint
CREATE TRIGGER `repositories_insert` AFTER INSERT ON `repositories` BEGIN
	UPDATE `repository_totals` SET `count` = `count` + 1 WHERE `visibility` = new.`visibility`;
	UPDATE `repositories` SET `fork_count` = `fork_count` + 1 WHERE `id` = new.`parent_id`;
	UPDATE `repositories` SET
		`owner_lower_name` = (SELECT `lower_name` FROM `users` WHERE `id` = new.`owner_id`),
		`visibility` = CASE WHEN new.`is_private` THEN 'private'
			ELSE (SELECT `visibility` FROM `users` WHERE `id` = new.`owner_id`) END
		WHERE `id` = new.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `repositories_delete` AFTER DELETE ON `repositories` BEGIN
	UPDATE `repository_totals` SET `count` = `count` - 1 WHERE `visibility` = old.`visibility`;
	UPDATE `repositories` SET `fork_count` = `fork_count` - 1 WHERE `id` = old.`parent_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `repositories_owner` AFTER UPDATE OF `owner_id`, `is_private` ON `repositories`
WHEN new.`owner_id` <> old.`owner_id` OR new.`is_private` <> old.`is_private` BEGIN
	UPDATE `repositories` SET
		`owner_lower_name` = (SELECT `lower_name` FROM `users` WHERE `id` = new.`owner_id`),
		`visibility` = CASE WHEN new.`is_private` THEN 'private'
			ELSE (SELECT `visibility` FROM `users` WHERE `id` = new.`owner_id`) END
		WHERE `id` = new.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `repositories_visibility` AFTER UPDATE OF `visibility` ON `repositories`
WHEN new.`visibility` <> old.`visibility` BEGIN
	UPDATE `repository_totals` SET `count` = `count` - 1 WHERE `visibility` = old.`visibility`;
	UPDATE `repository_totals` SET `count` = `count` + 1 WHERE `visibility` = new.`visibility`;
	UPDATE `stars` SET `visibility` = new.`visibility` WHERE `repo_id` = new.`id`;
	UPDATE `watches` SET `visibility` = new.`visibility` WHERE `repo_id` = new.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `users_owner_of_repositories` AFTER UPDATE OF `lower_name`, `visibility` ON `users`
WHEN new.`lower_name` <> old.`lower_name` OR new.`visibility` <> old.`visibility` BEGIN
	UPDATE `repositories` SET
		`owner_lower_name` = new.`lower_name`,
		`visibility` = CASE WHEN `is_private` THEN 'private' ELSE new.`visibility` END
		WHERE `owner_id` = new.`id`;
END;
