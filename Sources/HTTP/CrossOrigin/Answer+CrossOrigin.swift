extension Answer {
    /// This answer with the fields of a policy on its response, whenever that comes (H124).
    public func with(_ policy: CrossOrigin, for request: Request) -> Answer {
        guard policy.isEnabled else { return self }
        return changing { response in
            var response = response
            policy.add(to: &response.fields, for: request)
            return response
        }
    }

    private func changing(_ change: @escaping @Sendable (Response) -> Response) -> Answer {
        var answer: Answer
        switch outcome {
        case .response(let response): answer = Answer(route, change(response))
        case .work(let policy, let work):
            answer = Answer(route, policy) { body in change(await work(body)) }
        // What a page may open is judged by its handshake (H129).
        case .upgrade: answer = self
        }
        answer.user = user
        return answer
    }
}
