"""A language model as an annotator: any endpoint that speaks the chat completions protocol of OpenAI."""
