ALTER TABLE `access_tokens` ADD `bound_refs` text;--> statement-breakpoint
ALTER TABLE `access_tokens` ADD `bound_paths` text;--> statement-breakpoint
ALTER TABLE `access_tokens` ADD `bound_packages` text;