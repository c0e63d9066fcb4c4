import { hashSecret } from "../../src/auth/secret.ts";
import { oauthApplications, type OauthApplication } from "../../src/db/schema/index.ts";
import { makeClientSecret } from "../../src/domain/oauth/client-secret.ts";
import { only } from "../../src/lib/only.ts";
import { db } from "./db.ts";
import { freshName } from "./make.ts";

/** An application with its secret. */
export interface TestApplication extends OauthApplication {
  secret: string;
}

export const CALLBACK = "https://app.example/callback";

/** Registers an application; confidential, with one redirect URI, unless the fields say otherwise. */
export async function makeApplication(
  owner: { id: number },
  fields: Partial<OauthApplication> = {},
): Promise<TestApplication> {
  const secret = makeClientSecret();
  const rows = await db
    .insert(oauthApplications)
    .values({
      ownerId: owner.id,
      name: freshName("app"),
      clientId: crypto.randomUUID(),
      secretHash: await hashSecret(secret),
      isConfidential: true,
      redirectUris: [CALLBACK],
      createdAt: 1000,
      ...fields,
    })
    .returning();
  return { ...only(rows), secret };
}
