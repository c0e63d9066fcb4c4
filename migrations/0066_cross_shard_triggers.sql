-- What tells of a deleted issue or comment in other databases is to be removed there: at once, or when a worker that sends it is done.
CREATE TRIGGER `issues_cross_shard_gone` AFTER DELETE ON `issues` BEGIN
	UPDATE `cross_shard_entries` SET `state` = 'gone', `due_at` = coalesce(`due_at`, 0) WHERE `issue_id` = old.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `timeline_entries_cross_shard_gone` AFTER DELETE ON `timeline_entries` WHEN old.`kind` IN ('comment', 'review', 'code') BEGIN
	UPDATE `cross_shard_entries` SET `state` = 'gone', `due_at` = coalesce(`due_at`, 0) WHERE `comment_id` = old.`id`;
END;
