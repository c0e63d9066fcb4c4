ALTER TABLE `issues` ADD `conversation_version` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `reviews` ADD `is_of_owner` integer DEFAULT false NOT NULL;--> statement-breakpoint
-- What a page of a conversation shows and no entry reports.
CREATE TRIGGER `reactions_insert` AFTER INSERT ON `reactions` BEGIN
	UPDATE `issues` SET `conversation_version` = `conversation_version` + 1 WHERE `id` = new.`issue_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `reactions_delete` AFTER DELETE ON `reactions` BEGIN
	UPDATE `issues` SET `conversation_version` = `conversation_version` + 1 WHERE `id` = old.`issue_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `timeline_entries_edit` AFTER UPDATE OF `content_version` ON `timeline_entries` BEGIN
	UPDATE `issues` SET `conversation_version` = `conversation_version` + 1 WHERE `id` = new.`issue_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `code_comments_resolve` AFTER UPDATE OF `resolved_at` ON `code_comments` BEGIN
	UPDATE `issues` SET `conversation_version` = `conversation_version` + 1 WHERE `id` = new.`issue_id`;
END;
