/** Result outcome: converts a tool's result from a server to the outcome of a call. */

import { failure, type ImagePart, imageType, maxImageBytes, type Outcome } from "@lathe/protocol";
import type { CallToolResult } from "@modelcontextprotocol/client";

/** Longest text of a failure: nothing else limits it. */
const failureChars = 4_000;
const maxImages = 8;

type Block = CallToolResult["content"][number];

export function resultOutcome({ content, structuredContent, isError }: CallToolResult): Outcome {
  const images: ImagePart[] = [];
  const texts = content.map((block) => textOf(block, images));
  if (texts.length === 0 && structuredContent !== undefined)
    texts.push(JSON.stringify(structuredContent, undefined, 2));
  const text = texts.join("\n");
  if (isError) {
    const said = text === "" ? "the tool failed and does not say why" : text.slice(0, failureChars);
    return { type: "failed", failure: failure("tool-failed", said, { who: "tool" }) };
  }
  return { type: "ok", text, ...(images.length > 0 && { images }) };
}

function textOf(block: Block, images: ImagePart[]): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
      return imageText(block.data, images);
    case "audio":
      return "[sound, which cannot be shown]";
    case "resource_link":
      return `[${block.name}: ${block.uri}]${block.description ? ` ${block.description}` : ""}`;
    case "resource": {
      const { resource } = block;
      return "text" in resource ? `[${resource.uri}]\n${resource.text}` : `[${resource.uri}: not text]`;
    }
  }
}

function imageText(base64: string, images: ImagePart[]): string {
  const bytes = Buffer.from(base64, "base64");
  const mediaType = imageType(bytes);
  if (mediaType === undefined) return "[an image that is neither png, jpeg, gif nor webp, or is cut off]";
  if (bytes.length > maxImageBytes || images.length >= maxImages) return "[an image too many, or too large]";
  images.push({ type: "image", mediaType, base64: bytes.toString("base64") });
  return `[${mediaType}, shown below]`;
}
