import {
  type ChatSettings,
  type Hook,
  HOOK_CONTENT_TYPES,
  type HookType,
} from "../../../db/schema/index.ts";
import type { HookOptions } from "../../../domain/exchange/webhooks/hooks/hook-options.ts";
import { HOOK_EVENTS } from "../../../events/webhooks/payloads/hook-event.ts";
import { invalidField } from "../../../lib/failure.ts";
import { CheckField, SelectField } from "../create/fields.tsx";
import type { FormState } from "../create/form-state.ts";
import type { Form } from "../form.ts";
import { Fault, Field } from "../layout.tsx";

// The form for a webhook. Fields have the API's names.

/** The names of the types of webhooks. */
export const HOOK_TYPE_NAMES: Readonly<Record<HookType, string>> = {
  gitea: "Gitea",
  gogs: "Gogs",
  slack: "Slack",
  discord: "Discord",
  msteams: "Microsoft Teams",
  telegram: "Telegram",
  feishu: "Feishu",
  matrix: "Matrix",
};

const CHARS_MAX = { url: 2048, secret: 1024, authorization: 4096, filter: 255, chat: 255 };
/** The names of the checkboxes of events begin with this. */
const EVENT = "event-";

/** Fields for how a chat shows messages, by the types that have them. */
const CHAT_FIELDS: Partial<Record<HookType, readonly (keyof typeof CHAT)[]>> = {
  slack: ["channel", "username", "icon_url", "color"],
  discord: ["username", "icon_url"],
};
const CHAT = {
  channel: ["Channel", "channel"],
  username: ["Name of the sender", "username"],
  icon_url: ["Address of an icon", "iconUrl"],
  color: ["Color", "color"],
} as const satisfies Record<string, readonly [label: string, setting: keyof ChatSettings]>;

/** Names for one event where its own name stands for a group of them. */
const ALONE: Readonly<Record<string, string>> = {
  issues: "issues_only",
  pull_request: "pull_request_only",
};

const isPlain = (type: HookType): boolean => type === "gitea" || type === "gogs";

/**
 * The options of a webhook that a form describes. A secret that was left empty stays as it is.
 *
 * @throws Failure `invalid`.
 */
export function readHook(form: Form, type: HookType): HookOptions {
  const events = form.namesWith(EVENT).map((name) => name.slice(EVENT.length));
  if (events.length === 0) throw invalidField("events", "must have at least one event");
  const secretOf = (name: string, charsMax: number): string | undefined => {
    const text = form.line(name, charsMax);
    return text === "" ? (form.isSet(`remove_${name}`) ? "" : undefined) : text;
  };
  const chat = (CHAT_FIELDS[type] ?? []).map((name) => [
    CHAT[name][1],
    form.line(name, CHARS_MAX.url),
  ]);
  return {
    url: form.line("url", CHARS_MAX.url),
    contentType: isPlain(type) ? form.text("content_type") : "json",
    secret: secretOf("secret", CHARS_MAX.secret),
    authorization: secretOf("authorization_header", CHARS_MAX.authorization),
    branchFilter: form.line("branch_filter", CHARS_MAX.filter),
    events: events.map((event) => ALONE[event] ?? event),
    isActive: form.isSet("active"),
    chat: Object.fromEntries(chat) as ChatSettings,
  };
}

/** The field of the form that a refusal is about which does not say so. */
export function hookFieldOf(message: string): string | undefined {
  if (/url/i.test(message)) return "url";
  return /channel/.test(message) ? "channel" : undefined;
}

/** The fields of the form for a webhook. */
export const toHookForm = (hook: Hook): Record<string, string> => ({
  url: hook.url,
  content_type: hook.contentType,
  branch_filter: hook.branchFilter,
  channel: hook.chat.channel ?? "",
  username: hook.chat.username ?? "",
  icon_url: hook.chat.iconUrl ?? "",
  color: hook.chat.color ?? "",
});

interface HookFieldsProps {
  state: FormState;
  type: HookType;
  /** The webhook that is edited; undefined for a new one. */
  hook: Hook | undefined;
}

/** The fields of the form for a webhook. */
export function HookFields({ state, type, hook }: HookFieldsProps) {
  const chosen = new Set(hook?.events ?? ["push"]);
  return (
    <>
      <Field
        label="Address that receives"
        {...state.of("url")}
        maxlength={CHARS_MAX.url}
        hint="A URL with http or https, of a host that the service may reach (ALLOWED_HOST_LIST)."
      />
      {isPlain(type) ? (
        <SelectField
          state={state}
          label="Content type"
          name="content_type"
          options={HOOK_CONTENT_TYPES.map((each) => [
            each,
            each === "json" ? "application/json" : "application/x-www-form-urlencoded",
          ])}
        />
      ) : undefined}
      {(CHAT_FIELDS[type] ?? []).map((name) => (
        <Field
          label={CHAT[name][0]}
          {...state.of(name)}
          maxlength={CHARS_MAX.chat}
          isOptional={name !== "channel"}
        />
      ))}
      <SecretField
        state={state}
        label="Secret that signs deliveries"
        name="secret"
        charsMax={CHARS_MAX.secret}
        isStored={(hook?.secret ?? null) !== null}
      />
      <SecretField
        state={state}
        label="Authorization header"
        name="authorization_header"
        charsMax={CHARS_MAX.authorization}
        isStored={(hook?.authorization ?? null) !== null}
        kept=", unless the address leads to another host"
      />
      <fieldset>
        <legend>Events</legend>
        <Fault id={state.of("events").fault && "events-fault"} text={state.of("events").fault} />
        <div class="many">
          {HOOK_EVENTS.map((event) => (
            <CheckField
              state={state}
              label={event.replaceAll("_", " ")}
              name={EVENT + event}
              isSetAtFirst={chosen.has(event)}
            />
          ))}
        </div>
      </fieldset>
      <Field
        label="Branches"
        {...state.of("branch_filter")}
        maxlength={CHARS_MAX.filter}
        hint="A pattern such as {main,release/**}; empty for all."
        isOptional
      />
      <CheckField
        state={state}
        label="It is active: events are delivered"
        name="active"
        isSetAtFirst={hook?.isActive ?? true}
      />
    </>
  );
}

interface SecretFieldProps {
  state: FormState;
  label: string;
  name: string;
  charsMax: number;
  /** Whether there is one, which is never shown. */
  isStored: boolean;
  /** When an empty field does not keep it, as the end of a sentence. */
  kept?: string;
}

function SecretField({ state, label, name, charsMax, isStored, kept = "" }: SecretFieldProps) {
  return (
    <>
      <Field
        label={label}
        name={name}
        type="password"
        autocomplete="new-password"
        maxlength={charsMax}
        hint={isStored ? `There is one. Empty: it stays${kept}.` : "None yet."}
        fault={state.of(name).fault}
        isOptional
      />
      {isStored ? (
        <CheckField state={state} label="Remove it" name={`remove_${name}`} />
      ) : undefined}
    </>
  );
}
