import { createRoute, z } from "@hono/zod-openapi";

import { EMAIL_NOTIFICATIONS } from "../../db/schema/index.ts";
import { editUser } from "../../domain/people/accounts/edit-user.ts";
import { defined } from "../../lib/defined.ts";
import { User, toUser } from "../../shapes/users/user.ts";
import { UserSettings, toUserSettings } from "../../shapes/users/user-settings.ts";
import { json, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { signedIn } from "../guards/people.ts";
import { body, optionalFlag, optionalText } from "../json-body.ts";
import { refusePublicOnly } from "./public-only.ts";

export const self = endpoints();

self.openapi(
  createRoute({
    method: "get",
    path: "/user",
    operationId: "userGetCurrent",
    tags: ["user"],
    summary: "Get the authenticated user",
    middleware: [signedIn("read:user")] as const,
    responses: { 200: json(User, "The user"), ...refusals(401, 403) },
  }),
  (c) => {
    const { ctx, user, viewer } = c.var;
    if (user.visibility !== "public") refusePublicOnly(ctx.actor);
    return c.json(toUser(user, viewer), 200);
  },
);

self.openapi(
  createRoute({
    method: "get",
    path: "/user/settings",
    operationId: "getUserSettings",
    tags: ["user"],
    summary: "Get your settings",
    middleware: [signedIn("read:user")] as const,
    responses: { 200: json(UserSettings, "Your settings"), ...refusals(401, 403) },
  }),
  (c) => {
    const { ctx, user } = c.var;
    refusePublicOnly(ctx.actor);
    return c.json(toUserSettings(user), 200);
  },
);

const EditSettings = body({
  full_name: optionalText(100),
  website: optionalText(255),
  description: optionalText(255),
  location: optionalText(50),
  language: optionalText(20),
  theme: optionalText(50),
  diff_view_style: z.enum(["", "unified", "split"]).optional(),
  hide_email: optionalFlag(),
  hide_activity: optionalFlag(),
  email_notifications: z.enum(EMAIL_NOTIFICATIONS).optional(),
}).openapi("UserSettingsOptions");

self.openapi(
  createRoute({
    method: "patch",
    path: "/user/settings",
    operationId: "updateUserSettings",
    tags: ["user"],
    summary: "Update your settings",
    description: "Fields that are not sent keep their values.",
    middleware: [signedIn("write:user")] as const,
    request: { body: { required: true, ...json(EditSettings, "The changes") } },
    responses: { 200: json(UserSettings, "Your updated settings"), ...refusals(401, 403, 422) },
  }),
  async (c) => {
    const { ctx, user } = c.var;
    refusePublicOnly(ctx.actor);
    const sent = c.req.valid("json");
    const edited = await editUser(
      ctx,
      user,
      defined({
        fullName: sent.full_name,
        website: sent.website,
        description: sent.description,
        location: sent.location,
        language: sent.language,
        theme: sent.theme,
        diffViewStyle: sent.diff_view_style,
        isEmailHidden: sent.hide_email,
        isActivityHidden: sent.hide_activity,
        emailNotifications: sent.email_notifications,
      }),
    );
    return c.json(toUserSettings(edited), 200);
  },
);
