import { z } from "@hono/zod-openapi";

import { Edited, Named, Nothing, Renamed } from "./common-fields.ts";

const PublicKey = z.object({ fingerprint: z.string() });
const GpgKey = z.object({ key_id: z.string() });

export const ACCOUNT_PAYLOADS = {
  "user.created": Named,
  "user.deleted": Named,
  "user.edited": Edited,
  "user.renamed": Renamed,
  "email.added": Nothing,
  "email.removed": Nothing,
  "access_token.created": Named,
  "access_token.deleted": Named,
  "public_key.added": PublicKey,
  "public_key.removed": PublicKey,
  "gpg_key.added": GpgKey,
  "gpg_key.verified": GpgKey,
  "gpg_key.removed": GpgKey,
} as const;
