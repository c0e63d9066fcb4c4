import type { RepositoryExpiry } from "../../../db/schema/index.ts";
import { EXPIRES_IN_MAX, type ExpiryInput } from "../../../domain/repos/repository/expiry.ts";
import { invalidField } from "../../../lib/failure.ts";
import type { Form as SentForm } from "../form.ts";
import { Field } from "../layout.tsx";
import { CheckField, SelectField } from "./fields.tsx";
import type { FormState } from "./form-state.ts";

const DAY_SECONDS = 24 * 60 * 60;
const DAYS_MAX = EXPIRES_IN_MAX / DAY_SECONDS;

type Action = RepositoryExpiry["action"];

/** What becomes of a repository at its end. */
export const EXPIRY_ACTIONS = [
  ["archive", "It is archived"],
  ["delete", "It is deleted"],
] as const satisfies readonly (readonly [Action, string])[];

/** The fields of `ExpiryFields`. */
export const EXPIRY_FIELDS = ["days", "expiry_action"];

/** Reads the end that a form gives a repository. @throws Failure `invalid`. */
export function readExpiry(form: SentForm): ExpiryInput {
  const days = form.line("days", 10);
  const count = Number(days);
  if (!/^\d+$/.test(days) || count < 1 || count > DAYS_MAX) {
    throw invalidField("days", `must be a whole number from 1 to ${DAYS_MAX}`);
  }
  const chosen = EXPIRY_ACTIONS.find(([action]) => action === form.text("expiry_action"));
  if (!chosen) throw invalidField("expiry_action", "must be one of the choices");
  return {
    expiresIn: count * DAY_SECONDS,
    action: chosen[0],
    extendsOnPush: form.isSet("extends_on_push"),
  };
}

interface ExpiryFieldsProps {
  state: FormState;
  options?: readonly (readonly [Action, string])[];
  /** Whether a push moves the present end. */
  isExtended?: boolean;
  isOptional?: boolean;
}

/** When a repository ends, and what becomes of it. */
export function ExpiryFields({
  state,
  options = EXPIRY_ACTIONS,
  isExtended = false,
  isOptional = false,
}: ExpiryFieldsProps) {
  return (
    <>
      <Field
        label="Days from now"
        {...state.of("days")}
        inputmode="numeric"
        maxlength={10}
        isOptional={isOptional}
      />
      <SelectField state={state} label="At its end" name="expiry_action" options={options} />
      <CheckField
        state={state}
        label="Each push gives it the same time again"
        name="extends_on_push"
        isSetAtFirst={isExtended}
      />
    </>
  );
}
