import { Hono } from "hono";

import { enterConversationVersion } from "../../../entrance/enter-conversation-version.ts";
import { evaluateConditions, versionHeaders } from "../../../lib/conditional-request.ts";
import { targetOf } from "../../enter-repository-path.ts";
import type { WebEnv } from "../../env.ts";
import { readerRequest } from "../open-page.ts";

/** Whether a conversation has changed: a script of its page asks, as long as somebody looks. */
export const versions = new Hono<WebEnv>();

for (const kind of ["issues", "pulls"] as const) {
  // Without content: 304 for the version that the script names, 204 for another one.
  versions.get(`/:owner/:repo/${kind}/:number{[0-9]{1,15}}/version`, async (c) => {
    const { owner, repo: name, number } = c.req.param();
    const target = targetOf(c, { owner, name, requirement: { mode: "read" }, scopes: [] });
    const version = {
      tag: await enterConversationVersion(readerRequest(c), target, Number(number)),
    };
    const { status } = evaluateConditions(c.req.raw, version);
    const headers = { ...versionHeaders(version), "Cache-Control": "private, no-cache" };
    return new Response(null, { status: status === 200 ? 204 : status, headers });
  });
}
