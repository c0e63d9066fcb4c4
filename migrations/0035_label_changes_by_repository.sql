DROP INDEX `timeline_entries_label`;--> statement-breakpoint
CREATE INDEX `timeline_entries_label` ON `timeline_entries` (`label_id`,`repo_id`) WHERE "timeline_entries"."label_id" is not null;