ALTER TABLE `package_registries` ADD `public_revision` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `package_registries` ADD `public_changed_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `packages` ADD `is_concealed` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `packages_concealed` ON `packages` (`owner_id`,`type`) WHERE "packages"."is_concealed" = 1;--> statement-breakpoint
CREATE INDEX `package_blobs_sha512` ON `package_blobs` (`owner_id`,`sha512`);