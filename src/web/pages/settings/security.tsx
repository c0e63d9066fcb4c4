import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import type { Session } from "../../../db/schema/index.ts";
import { endOtherSessions, endSession } from "../../../domain/sessions/end-sessions.ts";
import { listSessions } from "../../../domain/sessions/list-sessions.ts";
import { readId } from "../read-id.ts";
import type { WebEnv } from "../../env.ts";
import { readForm } from "../form.ts";
import { Form } from "../layout.tsx";
import { type OwnPage, openOwnPage } from "../open-page.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { Time } from "../time.tsx";
import { renderSettings } from "./settings-page.tsx";

const PATH = "/user/settings/security";

/** Sessions and second factors of the reader. */
export const security = new Hono<WebEnv>({ router: new TrieRouter() });

security.get(PATH, async (c) => {
  const page = await openOwnPage(c);
  const sessions = await listSessions(page.ctx, page.user);
  return renderSettings(
    c,
    page,
    { part: "security" },
    <Sessions page={page} sessions={sessions} />,
  );
});

security.post(`${PATH}/sessions/end`, async (c) => {
  const form = await readForm(c);
  const { ctx, user } = await openOwnPage(c);
  await endSession(ctx.db, user.id, readId(form.text("id")));
  return redirectAfterWrite(c, PATH);
});

security.post(`${PATH}/sessions/end_others`, async (c) => {
  await readForm(c);
  const { ctx, session } = await openOwnPage(c);
  await endOtherSessions(ctx.db, session);
  return redirectAfterWrite(c, PATH);
});

function Sessions({ page, sessions }: { page: OwnPage; sessions: readonly Session[] }) {
  const { formToken } = page;
  return (
    <section class="card" aria-labelledby="sessions">
      <h2 id="sessions">Sessions</h2>
      <p>Browsers in which you are signed in. A session ends 14 days after its last use.</p>
      <ul class="list">
        {sessions.map((each) => (
          <li>
            <div class="grow">
              <div>{each.userAgent || "Unknown browser"}</div>
              <div class="soft">
                {each.id === page.session.id ? "This browser. " : undefined}
                {each.network === "" ? undefined : `From ${each.network}. `}
                Signed in <Time at={each.createdAt} />, last used <Time at={each.lastUsedAt} />.
              </div>
            </div>
            {each.id === page.session.id ? undefined : (
              <Form action={`${PATH}/sessions/end`} formToken={formToken}>
                <input type="hidden" name="id" value={String(each.id)} />
                <button type="submit">
                  End<span class="hidden"> the session of {each.userAgent}</span>
                </button>
              </Form>
            )}
          </li>
        ))}
      </ul>
      {sessions.length > 1 ? (
        <Form action={`${PATH}/sessions/end_others`} formToken={formToken}>
          <button type="submit" class="danger">
            End all other sessions
          </button>
        </Form>
      ) : undefined}
    </section>
  );
}
