import { z } from "@hono/zod-openapi";

import { NoDetails } from "./common-details.ts";

const By = z.enum(["password", "second_factor", "security_key", "recovery_code"]);

export const SIGN_IN_DETAILS = {
  "sign_in.succeeded": z.object({ by: By }),
  /**
   * A wrong password or code. Its owner is the account that was tried; 0 for a name that no account
   * has.
   */
  "sign_in.failed": z.object({ by: By }),
  /** A right password of an account that may not sign in. */
  "sign_in.refused": z.object({ because: z.enum(["inactive", "prohibited"]) }),
  "session.ended": NoDetails,
  "two_factor.enabled": NoDetails,
  "two_factor.disabled": NoDetails,
  "security_key.added": NoDetails,
  "security_key.removed": NoDetails,
} as const;
