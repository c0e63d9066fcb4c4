import type { Session } from "../../../db/schema/index.ts";
import { Form } from "../layout.tsx";
import type { OwnPage } from "../open-page.ts";
import { Time } from "../time.tsx";
import { SECURITY_PATH } from "./security-path.ts";

/** The reader's sessions, each with a button that ends it. */
export function Sessions({ page, sessions }: { page: OwnPage; sessions: readonly Session[] }) {
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
              <Form action={`${SECURITY_PATH}/sessions/end`} formToken={formToken}>
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
        <Form action={`${SECURITY_PATH}/sessions/end_others`} formToken={formToken}>
          <button type="submit" class="danger">
            End all other sessions
          </button>
        </Form>
      ) : undefined}
    </section>
  );
}
