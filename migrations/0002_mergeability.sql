ALTER TABLE `pulls` RENAME COLUMN `judged_base_oid` TO `checked_base_oid`;--> statement-breakpoint
ALTER TABLE `pulls` RENAME COLUMN `judged_head_oid` TO `checked_head_oid`;
