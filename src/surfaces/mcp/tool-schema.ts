import type * as z from 'zod';

export interface ToolSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: string[];
  readonly additionalProperties: false;
}

export const PROJECT_FIELD = {
  type: 'string',
  description: 'Prefix or name; needed when several are served',
};

/**
 * The fields that a tool offers, as short as a model needs them: limits, patterns and sizes are checked on the way in
 * and cost tokens in every conversation until then.
 */
export function toToolSchema(input: z.ZodObject, fields: readonly string[]): ToolSchema {
  const schema = input.toJSONSchema({ io: 'input' }) as JsonSchema;
  const properties = fields.map((field) => [field, trim(schema.properties?.[field] ?? {})] as const);
  const required = (schema.required ?? []).filter((field) => fields.includes(field));
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
}

function trim(schema: JsonSchema): object {
  const described = schema.description === undefined ? {} : { description: reword(schema.description) };
  const nullable = schema.anyOf?.length === 2 && schema.anyOf.some(({ type }) => type === 'null');
  if (nullable) {
    const inner = schema.anyOf?.find(({ type }) => type !== 'null') ?? {};
    return { ...trimType(inner), type: [inner.type, 'null'], ...described };
  }
  return { ...trimType(schema), ...described };
}

/** A range says something only where it is one a person would name. */
const LARGEST_TOLD = 10_000;

function trimType(schema: JsonSchema): object {
  const { type, items, minimum, maximum } = schema;
  if (schema.enum !== undefined) return { enum: schema.enum };
  const told = maximum !== undefined && maximum <= LARGEST_TOLD;
  return {
    type,
    ...(items !== undefined && { items: trimType(items) }),
    ...(told && { minimum, maximum }),
  };
}

/** Descriptions are written for flags; here a field has no dashes, a list does not repeat, and null is null. */
function reword(text: string): string {
  return (
    text
      .replace(/; repeats$/, '')
      // How a command line spells values and files.
      .replace(/; JSON literals[^]*$/, '')
      .replaceAll('"none"', 'null')
      .replaceAll(/--([a-z][a-z-]*)/g, (_flag, name: string) => name.replaceAll('-', '_'))
  );
}
