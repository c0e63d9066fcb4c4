CREATE TABLE `discarded_objects` (
	`object_name` text PRIMARY KEY NOT NULL,
	`network_name` text NOT NULL,
	`discarded_at` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `repositories` ADD `object_name` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `repositories` ADD `network_name` text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `repositories_object` ON `repositories` (`object_name`) WHERE "repositories"."object_name" <> '';--> statement-breakpoint
CREATE INDEX `repositories_network` ON `repositories` (`network_name`,`id`);