import { z } from "@hono/zod-openapi";

import type { User } from "../../db/schema/index.ts";

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
  })
  .openapi("UserSettings");

export const toUserSettings = (user: User): z.infer<typeof UserSettings> => ({
  full_name: user.fullName,
  website: user.website,
  description: user.description,
  location: user.location,
  language: user.language,
  theme: user.theme,
  diff_view_style: user.diffViewStyle,
  hide_email: user.isEmailHidden,
  hide_activity: user.isActivityHidden,
});
