import { z } from "zod";

import { invalid } from "../../lib/failure.ts";

const LENGTH_MAX = 254;
const Address = z.email();

/** @throws Failure `invalid` when `email` is not a valid address or exceeds 254 characters. */
export function checkEmail(email: string): void {
  if (email.length > LENGTH_MAX) throw invalid("[Email]: MaxSize");
  if (!Address.safeParse(email).success) throw invalid("[Email]: Email");
}
