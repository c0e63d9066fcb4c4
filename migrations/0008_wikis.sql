ALTER TABLE `pull_mirrors` ADD `with_wiki` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `repositories` ADD `wiki_branch` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `repositories` ADD `wiki_size_bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `events_wiki_push` ON `events` ("payload" ->> 'pushId') WHERE "events"."type" = 'wiki.changed';--> statement-breakpoint
-- The deletion of a repository notes the git data of its wiki, too.
CREATE TRIGGER `repositories_discard_wiki` AFTER DELETE ON `repositories` WHEN old.`wiki_branch` <> '' BEGIN
	INSERT INTO `discarded_objects` (`object_name`, `network_name`, `discarded_at`)
		VALUES (old.`object_name` || '-wiki', old.`object_name` || '-wiki', unixepoch() * 1000);
END;
