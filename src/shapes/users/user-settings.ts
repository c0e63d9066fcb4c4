import { z } from "@hono/zod-openapi";

import { EMAIL_NOTIFICATIONS, type User } from "../../db/schema/index.ts";

export const UserSettings = z
  .object({
    full_name: z.string(),
    website: z.string(),
    description: z.string(),
    location: z.string(),
    language: z.string(),
    theme: z.string(),
    diff_view_style: z.string(),
    hide_email: z.boolean(),
    hide_activity: z.boolean(),
    email_notifications: z.enum(EMAIL_NOTIFICATIONS).openapi({
      description: "Which notifications you also receive by mail",
    }),
  })
  .openapi("UserSettings");

/** The theme of a user who has chosen none, by the name that clients of Gitea know. */
const DEFAULT_THEME = "gitea-auto";

export const toUserSettings = (user: User): z.infer<typeof UserSettings> => ({
  full_name: user.fullName,
  website: user.website,
  description: user.description,
  location: user.location,
  language: user.language,
  theme: user.theme || DEFAULT_THEME,
  diff_view_style: user.diffViewStyle,
  hide_email: user.isEmailHidden,
  hide_activity: user.isActivityHidden,
  email_notifications: user.emailNotifications,
});
