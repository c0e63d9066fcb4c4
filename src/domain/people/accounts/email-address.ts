import { z } from "zod";

import { invalidField } from "../../../lib/failure.ts";

const LENGTH_MAX = 254;
const Address = z.email();

/** Whether a text is a valid address of 254 characters at most. */
export const isEmail = (text: string): boolean =>
  text.length <= LENGTH_MAX && Address.safeParse(text).success;

/**
 * Validates an e-mail address.
 *
 * @param field The field name in the error message.
 * @throws Failure `invalid` when `email` is not a valid address or exceeds 254 characters.
 */
export function checkEmail(email: string, field = "email"): void {
  if (email.length > LENGTH_MAX) {
    throw invalidField(field, `must have at most ${LENGTH_MAX} characters`);
  }
  if (!Address.safeParse(email).success) throw invalidField(field, "must be an e-mail address");
}
