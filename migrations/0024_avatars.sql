CREATE TABLE `avatar_images` (
	`upload_id` text PRIMARY KEY NOT NULL,
	`hash` text NOT NULL,
	`content_type` text NOT NULL,
	`expires_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `avatar_images_hash` ON `avatar_images` (`hash`) WHERE "avatar_images"."expires_at" is null;--> statement-breakpoint
CREATE INDEX `avatar_images_expiry` ON `avatar_images` (`expires_at`) WHERE "avatar_images"."expires_at" is not null;--> statement-breakpoint
ALTER TABLE `users` ADD `avatar_hash` text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX `users_avatar` ON `users` (`avatar_hash`) WHERE "users"."avatar_hash" <> '';--> statement-breakpoint
ALTER TABLE `repositories` ADD `avatar_hash` text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX `repositories_avatar` ON `repositories` (`avatar_hash`) WHERE "repositories"."avatar_hash" <> '';