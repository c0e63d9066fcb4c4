DROP INDEX `timeline_entries_commit`;--> statement-breakpoint
CREATE UNIQUE INDEX `timeline_entries_commit` ON `timeline_entries` (`issue_id`,`commit_oid`,`kind`) WHERE "timeline_entries"."commit_oid" <> '';--> statement-breakpoint
ALTER TABLE `tracked_times` ADD `booked_at` integer DEFAULT 0 NOT NULL;