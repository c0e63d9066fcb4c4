CREATE INDEX `users_noted` ON `users` (`lower_name`) WHERE "users"."is_admin" = 1 or "users"."is_active" = 0 or "users"."is_restricted" = 1
          or "users"."is_login_prohibited" = 1;--> statement-breakpoint
CREATE INDEX `hooks_failing` ON `hooks` (`failing_since`) WHERE "hooks"."failing_since" is not null;--> statement-breakpoint
CREATE INDEX `package_usage_size` ON `package_usage` (`size_bytes`);--> statement-breakpoint
CREATE INDEX `imports_stopped` ON `imports` (`created_at`) WHERE "imports"."last_error" <> '';--> statement-breakpoint
CREATE INDEX `pull_mirrors_failing` ON `pull_mirrors` (`failing_since`) WHERE "pull_mirrors"."failing_since" is not null;--> statement-breakpoint
CREATE INDEX `push_mirrors_failing` ON `push_mirrors` (`failing_since`) WHERE "push_mirrors"."failing_since" is not null;