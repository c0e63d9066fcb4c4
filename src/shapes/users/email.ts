import { z } from "@hono/zod-openapi";

import type { EmailAddress } from "../../db/schema/index.ts";
import { Int64 } from "../json.ts";

export const Email = z
  .object({
    email: z.string().openapi({ format: "email" }),
    verified: z.boolean(),
    primary: z.boolean(),
    user_id: Int64,
    username: z.string(),
  })
  .openapi("Email");

/** Formats an e-mail address with its account, for administrators. */
export const toEmailOfAccount = (entry: {
  address: EmailAddress;
  username: string;
}): z.infer<typeof Email> => ({
  ...toEmail(entry.address),
  user_id: entry.address.userId,
  username: entry.username,
});

/** Formats an e-mail address for its owner, without the account's id and name. */
export const toEmail = (address: EmailAddress): z.infer<typeof Email> => ({
  email: address.email,
  verified: address.isActivated,
  primary: address.isPrimary,
  user_id: 0,
  username: "",
});
