import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";
import type { Child } from "hono/jsx";

import { notFound } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { FormState } from "../create/form-state.ts";
import { type Form, requireOwnForm } from "../form.ts";
import { type ChosenFiles, receiveFormWithFiles } from "../form-with-files.ts";
import { keepText } from "../keep-text.tsx";
import { type OwnPage, requireCookie } from "../open-page.ts";
import { orRefuse, type Refusal } from "../or-refuse.ts";
import type { PageFile } from "../page-file.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";

// The pages of settings of repositories and organizations: each is a list of forms that are sent to
// the address of their page, and name what they ask for by `action`.

/** Maximum bytes of the fields of a form. */
const BYTES_MAX = 128 * 1024;

/**
 * Who may open a page or send a form: those who administer what it is about, or only who owns it; of
 * an organization those who own it, or all its members.
 */
export type SettingsRole = "member" | "admin" | "owner";

/** The request of a page of settings. */
export interface SettingsPage extends OwnPage {
  /** The path of the settings, such as `/alice/project/settings`. */
  readonly path: string;
  /** Sends the page, below the tabs of its owner. */
  readonly send: (view: SettingsView, refusal: Refusal | undefined) => Promise<Response>;
}

/** What a page shows. */
export interface SettingsView {
  readonly title: string;
  readonly body: Child;
  /**
   * The link of the navigation that leads to it, below the path of the settings; undefined for a
   * page of another tab.
   */
  readonly link?: string;
  readonly scripts?: readonly PageFile[];
  /** Whether the body has a heading of its own. */
  readonly isHeaded?: boolean;
}

/** Does what a form asks for. @returns The path of the page that shows it. */
export type SettingsAction<P> = (
  page: P,
  form: Form,
  sent: { readonly c: Context<WebEnv>; readonly files: ChosenFiles },
) => Promise<string>;

/** A page of settings with its forms. */
export interface SettingsPart<P> {
  /** The pattern of its address. */
  readonly path: string;
  /** Undefined for an address to which other pages send forms. */
  readonly show?: (page: P, forms: SettingsForms, c: Context<WebEnv>) => Promise<SettingsView>;
  /** What its forms ask for, by their field `action`. */
  readonly actions: Readonly<Record<string, SettingsAction<P>>>;
  /** Who may ask for an action, where it is not who may open the page. */
  readonly roles?: Readonly<Record<string, SettingsRole>>;
  /** The field that a refusal is about which does not say so. */
  readonly fieldOf?: (message: string) => string | undefined;
}

/** The forms of a page: one of them may have been sent, and refused. */
export class SettingsForms {
  private readonly sent:
    | { readonly action: string; readonly form: Form; readonly refusal: Refusal }
    | undefined;

  constructor(sent?: SettingsForms["sent"]) {
    this.sent = sent;
  }

  /** Why the form that was sent is refused. */
  get refusal(): Refusal | undefined {
    return this.sent?.refusal;
  }

  /** The form of an action: as it was sent, or else with these fields. */
  of(action: string, fields: Readonly<Record<string, string>> = {}): FormState {
    return this.sent?.action === action
      ? FormState.refused(this.sent.form, this.sent.refusal)
      : FormState.fresh(fields);
  }
}

/** What a request needs of the owner that its path names. */
interface SettingsEntry {
  readonly role: SettingsRole;
  /** The action of a form; undefined for a page that is opened. */
  readonly action: string | undefined;
}

/** Enters the owner of a page's path. @throws Failure `not_found` for who may not. */
export type EnterSettings<P> = (c: Context<WebEnv>, entry: SettingsEntry) => Promise<P>;

/** Who may ask for an action of a part. */
export const roleOf = (
  { roles = {} }: Pick<SettingsPart<never>, "roles">,
  action: string,
): SettingsRole => (Object.hasOwn(roles, action) && roles[action]) || "admin";

/** The routes of parts of settings. */
export function openParts<P extends SettingsPage>(
  parts: readonly SettingsPart<P>[],
  enter: EnterSettings<P>,
): Hono<WebEnv> {
  const routes = new Hono<WebEnv>({ router: new TrieRouter() });
  for (const part of parts) {
    const { show } = part;
    if (show) {
      routes.get(part.path, async (c) => {
        requireCookie(c);
        const page = await enter(c, { role: "admin", action: undefined });
        return page.send(await show(page, new SettingsForms(), c), undefined);
      });
    }
    if (Object.keys(part.actions).length > 0) {
      routes.post(part.path, (c) => receive(c, part, enter));
    }
  }
  return routes;
}

async function receive<P extends SettingsPage>(
  c: Context<WebEnv>,
  part: SettingsPart<P>,
  enter: EnterSettings<P>,
): Promise<Response> {
  const { form, files } = await receiveFormWithFiles(c, BYTES_MAX);
  return keepText(c, form, async () => {
    requireCookie(c);
    const action = form.text("action");
    const page = await enter(c, { role: roleOf(part, action), action });
    await requireOwnForm(c, form);
    if (!Object.hasOwn(part.actions, action)) throw notFound();
    const work = async () =>
      redirectAfterWrite(c, (await part.actions[action]?.(page, form, { c, files })) ?? page.path);
    const { show } = part;
    if (!show) return work();
    return orRefuse(
      c,
      work,
      async (refusal) => {
        await files.skip();
        return page.send(
          await show(page, new SettingsForms({ action, form, refusal }), c),
          refusal,
        );
      },
      part.fieldOf,
    );
  });
}
