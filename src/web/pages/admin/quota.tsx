import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import {
  changeQuota,
  findQuota,
  type QuotaEntry,
} from "../../../domain/people/quotas/change-quota.ts";
import type { User } from "../../../db/schema/index.ts";
import { invalidField } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { accountPath } from "../addresses.ts";
import { Count } from "../count.tsx";
import { GeneralFault } from "../create/fields.tsx";
import { FormState } from "../create/form-state.ts";
import type { Form as SentForm } from "../form.ts";
import { formatBytes } from "../format-bytes.ts";
import { Field, Form } from "../layout.tsx";
import type { OwnPage } from "../open-page.ts";
import { openAdminPage } from "../open-admin-page.ts";
import { ADMIN_PATH, changeAsAdmin, renderAdmin } from "./admin-page.tsx";

const PATH = `${ADMIN_PATH}/quotas`;

/** The page of the quota of an account. */
export const quotaPath = ({ name }: Pick<User, "name">): string => `${PATH}/${name}`;

/** The limits with their words. */
const LIMITS = {
  repositories: "Repositories",
  bytes: "Bytes",
  tokens: "Access tokens",
} as const;
type Limit = keyof typeof LIMITS;

/** How much an account may have, and has. */
export const quota = new Hono<WebEnv>({ router: new TrieRouter() });

quota.get(`${PATH}/:name`, async (c) => renderQuota(c, await openAdminPage(c), FormState.fresh()));

quota.post(`${PATH}/:name`, (c) =>
  changeAsAdmin(
    c,
    async ({ ctx }, form) => {
      const { account: found } = await findQuota(ctx, c.req.param("name") ?? "");
      const account = await changeQuota(ctx, found, {
        repositories: readLimit(form, "repositories"),
        bytes: readLimit(form, "bytes"),
        tokens: readLimit(form, "tokens"),
      });
      return quotaPath(account);
    },
    (page, state) => renderQuota(c, page, state),
  ),
);

function readLimit(form: SentForm, name: Limit): number {
  const text = form.text(name).trim();
  if (!/^(?:-1|\d{1,12})$/.test(text)) {
    throw invalidField(name, "must be a number, or -1 for that of the service");
  }
  return Number(text);
}

async function renderQuota(c: Context<WebEnv>, page: OwnPage, state: FormState): Promise<Response> {
  const { ctx, formToken } = page;
  const { account, quota: found } = await findQuota(ctx, c.req.param("name") ?? "");
  const own: Record<Limit, number> = {
    repositories: account.repoCountMax,
    bytes: account.quota?.bytesMax ?? -1,
    tokens: account.quota?.tokenCountMax ?? -1,
  };
  const names = Object.keys(LIMITS) as Limit[];
  return renderAdmin(
    c,
    page,
    {
      part: "storage",
      title: `Quota of ${account.name}`,
      status: state.refusal?.status ?? 200,
    },
    <section class="card form" aria-labelledby="quota">
      <h2 id="quota">
        {"Quota of "}
        <a href={accountPath(account)}>{account.name}</a>
      </h2>
      <GeneralFault state={state} fields={names} />
      <div class="scroll" tabindex={0} role="region" aria-label="What there is">
        <table class="rows">
          <thead>
            <tr>
              <th>Of</th>
              <th class="number">Has</th>
              <th class="number">May have</th>
            </tr>
          </thead>
          <tbody>
            {names.map((name) => (
              <tr>
                <th scope="row">{LIMITS[name]}</th>
                <td class="number">{amountOf(name, found[name].used)}</td>
                <td class="number">{limitOf(name, found[name])}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Form action={quotaPath(account)} formToken={formToken}>
        {names.map((name) => (
          <Field
            label={LIMITS[name]}
            {...state.of(name)}
            value={state.valueOf(name, String(own[name]))}
            inputmode="numeric"
            maxlength={12}
            hint="-1 for the limit of the service."
          />
        ))}
        <button type="submit" class="primary">
          Save
        </button>
      </Form>
    </section>,
  );
}

const amountOf = (name: Limit, amount: number) =>
  name === "bytes" ? formatBytes(amount) : <Count of={amount} />;

const limitOf = (name: Limit, { limit }: QuotaEntry) =>
  limit < 0 ? "any number" : amountOf(name, limit);
